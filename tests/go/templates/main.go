// Executes the templates of cases.json with the data of data.json and writes what came out to expected.json, all in
// the directory that is given. Only the standard library is used.
//
//	cd tests/go/templates && go run . ../../golden/templates
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/template"
	"time"
	_ "time/tzdata"
	"unicode/utf8"

	"warren.test/templates/protocol"
)

type testCase struct {
	Name     string `json:"name"`
	Template string `json:"template"`
	File     string `json:"file"` // instead of a template, from the directory that is given
	Data     string `json:"data"`
	URL      bool   `json:"url"` // a template of a URL, which has no helpers
}

type input struct {
	Cluster string
	Group   string
	ID      string
	StartMS *int64 `json:"start_ms"`
	Extras  map[string]string
	Status  protocol.ConsumerGroupStatus
}

type result struct {
	Output *string `json:"output,omitempty"`
	Hex    string  `json:"hex,omitempty"` // of an output that is no UTF-8
	Error  string  `json:"error,omitempty"`
	Line   int     `json:"line,omitempty"`
	Column *int    `json:"column,omitempty"` // from 0, in bytes
}

var (
	address  = regexp.MustCompile(`0x[0-9a-f]{9,}`)
	location = regexp.MustCompile(`^template: [^:]*:(\d+)(?::(\d+))?: `)
)

var helpers = template.FuncMap{
	"jsonencoder": func(value any) string {
		encoded, _ := json.Marshal(value)
		return string(encoded)
	},
	"topicsbystatus": func(partitions []*protocol.PartitionStatus) map[string][]string {
		topics := map[string][]string{}
		for _, partition := range partitions {
			name := partition.Status.String()
			if !slices.Contains(topics[name], partition.Topic) {
				topics[name] = append(topics[name], partition.Topic)
				sort.Strings(topics[name])
			}
		}
		return topics
	},
	"partitioncounts": func(partitions []*protocol.PartitionStatus) map[string]int {
		counts := map[string]int{"warn": 0, "stop": 0, "stall": 0, "rewind": 0, "unknown": 0}
		for _, partition := range partitions {
			key := strings.ToLower(partition.Status.String())
			if _, known := counts[key]; known {
				counts[key]++
			} else if key != "ok" {
				counts["unknown"]++
			}
		}
		return counts
	},
	"add":      func(a, b int) int { return a + b },
	"minus":    func(a, b int) int { return a - b },
	"multiply": func(a, b int) int { return a * b },
	"divide":   func(a, b int) int { return a / b },
	"maxlag": func(partition *protocol.PartitionStatus) uint64 {
		if partition == nil {
			return 0
		}
		return partition.CurrentLag
	},
	"formattimestamp": func(ms int64, layout string) string {
		return time.Unix(0, ms*int64(time.Millisecond)).Format(layout)
	},
}

func main() {
	zone, err := time.LoadLocation("Europe/Berlin")
	check(err)
	time.Local = zone
	directory := os.Args[1]
	var cases []testCase
	var data map[string]input
	read(filepath.Join(directory, "cases.json"), &cases)
	read(filepath.Join(directory, "data.json"), &data)
	results := map[string]result{}
	for _, one := range cases {
		if _, again := results[one.Name]; again {
			log.Fatalf("two cases are called %q", one.Name)
		}
		if one.File != "" {
			content, err := os.ReadFile(filepath.Join(directory, one.File))
			check(err)
			one.Template = string(content)
		}
		results[one.Name] = run(one, data[one.Data])
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	check(encoder.Encode(results))
	check(os.WriteFile(filepath.Join(directory, "expected.json"), out.Bytes(), 0o644))
}

func run(one testCase, data input) result {
	parsed := template.New("t")
	if !one.URL {
		parsed = parsed.Funcs(helpers)
	}
	parsed, err := parsed.Parse(one.Template)
	if err != nil {
		return failure("parse", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, message(data)); err != nil {
		return failure("exec", err)
	}
	if !utf8.Valid(out.Bytes()) {
		return result{Hex: hex.EncodeToString(out.Bytes())}
	}
	shown := address.ReplaceAllString(out.String(), "0xADDRESS")
	return result{Output: &shown}
}

func message(data input) any {
	var start time.Time
	if data.StartMS != nil {
		start = time.UnixMilli(*data.StartMS)
	}
	status := data.Status
	for _, partition := range status.Partitions { // as in Burrow, the worst is one of them
		if m := status.Maxlag; m != nil && partition.Topic == m.Topic && partition.Partition == m.Partition {
			status.Maxlag = partition
		}
	}
	return struct {
		Cluster string
		Group   string
		ID      string
		Start   time.Time
		Extras  map[string]string
		Result  protocol.ConsumerGroupStatus
	}{data.Cluster, data.Group, data.ID, start, data.Extras, status}
}

func failure(kind string, err error) result {
	found := location.FindStringSubmatch(err.Error())
	if found == nil {
		return result{Error: kind}
	}
	line, _ := strconv.Atoi(found[1])
	failed := result{Error: kind, Line: line}
	if found[2] != "" {
		column, _ := strconv.Atoi(found[2])
		failed.Column = &column
	}
	return failed
}

func read(path string, into any) {
	content, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(content, into))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
