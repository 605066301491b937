"""Reports as one HTML file each, with plots, that need nothing from anywhere else."""
