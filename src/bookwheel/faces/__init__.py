"""The contracts bookwheel speaks, one a file. A face words things; what it tells comes from the catalog."""
