"""What people look at elsewhere: dashboards for Grafana, rules for Prometheus, and how they get out of here."""
