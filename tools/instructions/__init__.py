"""The instructions of the lattice as the command line lists and explains them, a module a kind.

Such a module has `listings()`, a `Listing` for each of its rows; `catalogue.py` names the modules.
"""
