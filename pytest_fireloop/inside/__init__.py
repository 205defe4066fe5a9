"""What runs in the tested process: standard library and pytest only, Python 3.9 and later."""
