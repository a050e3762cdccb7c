"""`dcuop verify`: whether an operator computes what its contract says, how fast, and what that is worth.

The program reads the contract and builds; `python -m dcuop._verify REQUEST.json` runs the operator, in child processes.
docs/verify.md describes both.
"""
