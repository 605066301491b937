// An OpenTelemetry Collector that takes OTLP and prints what it was sent.
package main

import (
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

var version string // told by whoever builds it

func main() {
	files := confmap.ResolverSettings{
		ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
		DefaultScheme:     "file",
	}
	settings := otelcol.CollectorSettings{
		BuildInfo:              component.BuildInfo{Command: "otel-collector", Version: version},
		Factories:              factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: files},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}

func factories() (otelcol.Factories, error) {
	otlp, debug := otlpreceiver.NewFactory(), debugexporter.NewFactory()
	return otelcol.Factories{
		Receivers: map[component.Type]receiver.Factory{otlp.Type(): otlp},
		Exporters: map[component.Type]exporter.Factory{debug.Type(): debug},
	}, nil
}
