"""Whether an installed agent still behaves as the versions that were measured."""
