"""The composition root: builds the parts of a gateway and runs them."""
