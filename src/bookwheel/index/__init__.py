"""The index: chunks in, ranked chunks out. No other room knows how it is kept."""
