"""Grafana dashboards from code: what is shown (`layout`) and how each data source is asked for it.

Run `make dashboards` after a change; the JSON that comes out is checked in, and is what Warren ships. Nothing here is
part of the wheel.
"""
