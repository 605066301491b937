// Prints what httprouter 1.3.0 does with the requests of tests/golden/httprouter.txt, in the form of that file.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"

	"github.com/julienschmidt/httprouter"
)

var routes = []string{
	"GET /burrow/admin", "GET /burrow/admin/ready", "GET /metrics",
	"GET /v3/admin/loglevel", "POST /v3/admin/loglevel", "GET /v3/config",
	"GET /v3/kafka", "GET /v3/kafka/:cluster", "GET /v3/kafka/:cluster/topic", "GET /v3/kafka/:cluster/topic/:topic",
	"GET /v3/kafka/:cluster/topic/:topic/consumers", "GET /v3/kafka/:cluster/consumer",
	"GET /v3/kafka/:cluster/consumer/:group", "GET /v3/kafka/:cluster/consumer/:group/status",
	"GET /v3/kafka/:cluster/consumer/:group/lag", "DELETE /v3/kafka/:cluster/consumer/:group",
	"DELETE /v3/kafka/:cluster/consumer/:group/topic/:topic",
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

func main() {
	for _, kind := range []string{"storage", "evaluator", "cluster", "consumer", "notifier"} {
		routes = append(routes, "GET /v3/config/"+kind, "GET /v3/config/"+kind+"/:name")
	}
	router := httprouter.New()
	var outcome string
	for _, route := range routes {
		method, pattern, _ := strings.Cut(route, " ")
		router.Handle(method, pattern, func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
			outcome = "200 " + quote(pattern)
			for _, one := range p {
				outcome += " " + quote(one.Value)
			}
		})
	}
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	fmt.Println(in.Text())
	for in.Scan() {
		request := in.Text()
		in.Scan()
		method, target, _ := strings.Cut(request, " ")
		outcome = ""
		u, err := url.ParseRequestURI(target)
		if err != nil {
			outcome = "ERR " + err.Error()
		} else {
			w := httptest.NewRecorder()
			router.ServeHTTP(w, &http.Request{Method: method, URL: u, RequestURI: target, Header: http.Header{}})
			if outcome == "" {
				outcome = fmt.Sprint(w.Code)
				if l := w.Header().Get("Location"); l != "" {
					outcome += " " + l
				}
				if a := w.Header().Get("Allow"); a != "" {
					outcome += " " + a
				}
			}
		}
		fmt.Printf("%s\n  %s\n", request, outcome)
	}
}
