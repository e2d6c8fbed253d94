"""The soak: steady load on a target through faults, reloads and kills, and a verdict with evidence."""
