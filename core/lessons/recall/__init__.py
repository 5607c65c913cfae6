"""Which records an action needs: what it says, how rare that is here, and what speaks for each."""
