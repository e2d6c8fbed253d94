"""The performance figures of the design, measured side by side in one run: `python3 -m harness.bench`."""
