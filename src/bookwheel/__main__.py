"""`python -m bookwheel`."""

from bookwheel.cli import main

main()
