"""Replicas of `pagoda serve` on Ray Serve, routed by the contents of their prefix caches."""

VERSION = "0.1.0"  # of the engines that this package was made for; a replica with a different version is refused
