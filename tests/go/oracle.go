// Tells what Go's standard library makes of the things that Burrow leaves to it, for tests that have no Go:
//
//	go run tests/go/oracle.go > tests/golden/go.txt
//
// The router's own rules are not here (they are those of httprouter); what it answers with is: redirects, errors and
// OPTIONS go through net/http. Each request is written to a real socket, and the answer is told as it came.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

const invalid = `{"error":true,"message":"invalid request type","result":{}}`

// The requests, each with what the router decides on it.
var requests = []struct{ method, target, decision string }{
	{"GET", "/v3/kafka/", "without slash"},
	{"GET", "/v3/kafka/?a=b&c=<'\">%zz", "without slash"},
	{"GET", "/v3/kafka/a%20b%C3%BC!*'();:@&=+$,%5B%5D~%25/topic/", "without slash"},
	{"GET", "/v3/kafka/%22%3C%3E/topic/", "without slash"},
	{"GET", "/v3/kafka/../topic/", "without slash"},
	{"GET", "/V3/Kafka", "lower case"},
	{"POST", "/v3/admin/loglevel/", "without slash"},
	{"DELETE", "/v3/kafka/c/consumer/g/", "without slash"},
	{"GET", "/nowhere", "nothing"},
	{"HEAD", "/nowhere", "nothing"},
	{"POST", "/v3/kafka", "GET, OPTIONS"},
	{"HEAD", "/v3/kafka", "GET, OPTIONS"},
	{"PUT", "/v3/admin/loglevel", "GET, OPTIONS, POST"},
	{"OPTIONS", "/v3/kafka/c/consumer/g", "DELETE, GET, OPTIONS"},
	{"GET", "/burrow/admin", "GOOD"},
	{"GET", "/v3/kafka/%zz", "never asked"},
}

func decide(w http.ResponseWriter, r *http.Request, decision string) {
	code := http.StatusMovedPermanently
	if r.Method != "GET" {
		code = http.StatusTemporaryRedirect
	}
	switch decision {
	case "without slash":
		r.URL.Path = strings.TrimSuffix(r.URL.Path, "/")
		http.Redirect(w, r, r.URL.String(), code)
	case "lower case":
		r.URL.Path = strings.ToLower(r.URL.Path)
		http.Redirect(w, r, r.URL.String(), code)
	case "nothing":
		http.Error(w, invalid, http.StatusNotFound)
	case "GOOD":
		io.WriteString(w, "GOOD")
	default:
		w.Header().Set("Allow", decision)
		if r.Method != "OPTIONS" {
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		}
	}
}

// serve answers one connection after another with handler and returns where.
func serve(handler http.HandlerFunc) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, handler)
	return listener.Addr().String()
}

func ask(address, method, target string) string {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: warren\r\nConnection: close\r\n\r\n", method, target)
	answer, _ := io.ReadAll(connection)
	return string(answer)
}

// tell prints an answer without what is different each time.
func tell(method, target, answer string) {
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	fmt.Printf("> %s %s\n", method, target)
	for _, line := range lines {
		if strings.HasPrefix(line, "Date:") {
			line = "Date: now"
		}
		fmt.Println(line)
	}
	fmt.Printf("\n%s", body)
	if !strings.HasSuffix(body, "\n") {
		fmt.Print("\n\\ no newline at the end")
		fmt.Println()
	}
	fmt.Println()
}

// A body is sent with its length or in chunks, by its size.
func tellFraming() {
	for _, size := range []int{0, 1, 2047, 2048, 2049, 5000} {
		address := serve(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(bytes.Repeat([]byte("x"), size))
		})
		answer := ask(address, "GET", "/")
		framing := "chunked"
		if strings.Contains(answer, "Content-Length:") {
			framing = "length"
		}
		fmt.Printf("= size %d\n%s\n", size, framing)
	}
}

// Values by names; the tests have the same ones.
var values = []struct {
	name  string
	value any
}{
	{"html", "<a href='x'>&\"</a>"},
	{"control", "\x00\x01\b\t\n\v\f\r\x1b\x1f\x7f"},
	{"backslash", `a\b/c`},
	{"unicode", "üñ漢😀\u2028\u2029\u0085\ufffd\ufeff"},
	{"invalid", "a\xffb\xc3(\xe2\x82c"},
	{"surrogate", "\xed\xa0\x80"},
	{"empty", []string{}},
	{"null", map[string]*int{"lag": nil}},
	{"keys", map[string]int{"b": 1, "a": 2, "ü": 3, "Z": 4, "<": 5}},
	{"int64", []int64{9223372036854775807, -9223372036854775808}},
	{"uint64", []uint64{18446744073709551615}},
	{"float32", []float32{0, 1, 0.5, 0.1, 0.7, 1.0 / 3, 2.0 / 3, 0.9999999, 1e-4, 5e-5, 1.0 / 30000, 1e-6, 9e-7, 1.0 / 3000000}},
}

func main() {
	decisions := map[string]string{}
	for _, one := range requests {
		decisions[one.method+" "+one.target] = one.decision
	}
	address := serve(func(w http.ResponseWriter, r *http.Request) { decide(w, r, decisions[r.Method+" "+r.RequestURI]) })
	for _, one := range requests {
		tell(one.method, one.target, ask(address, one.method, one.target))
	}
	tellFraming()
	for _, one := range values {
		text, err := json.Marshal(one.value)
		if err != nil {
			panic(err)
		}
		fmt.Printf("= json %s\n%s\n", one.name, text)
	}
}
