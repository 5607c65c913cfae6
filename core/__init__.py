"""The memory log of a project, and the ground on which every room stands."""
