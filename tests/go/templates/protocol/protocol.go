// Package protocol declares what Burrow's templates see, so that types print by the names they have there.
package protocol

import (
	"encoding/json"
	"fmt"
)

// StatusConstant is the status of a group or partition.
type StatusConstant int

var names = []string{"NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"}

func (c StatusConstant) String() string {
	if c < 0 || int(c) >= len(names) {
		return "UNKNOWN"
	}
	return names[c]
}

func (c StatusConstant) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func (c *StatusConstant) UnmarshalText(text []byte) error {
	for number, name := range names {
		if name == string(text) {
			*c = StatusConstant(number)
			return nil
		}
	}
	return fmt.Errorf("no status: %s", text)
}

// Lag is a number in JSON.
type Lag struct{ Value uint64 }

func (l Lag) MarshalJSON() ([]byte, error)     { return json.Marshal(l.Value) }
func (l *Lag) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &l.Value) }

type ConsumerOffset struct {
	Offset            int64 `json:"offset"`
	Order             int64 `json:"-"`
	Timestamp         int64 `json:"timestamp"`
	ObservedTimestamp int64 `json:"observedAt"`
	Lag               *Lag  `json:"lag"`
}

type PartitionStatus struct {
	Topic      string          `json:"topic"`
	Partition  int32           `json:"partition"`
	Owner      string          `json:"owner"`
	ClientID   string          `json:"client_id"`
	Status     StatusConstant  `json:"status"`
	Start      *ConsumerOffset `json:"start"`
	End        *ConsumerOffset `json:"end"`
	CurrentLag uint64          `json:"current_lag"`
	Complete   float32         `json:"complete"`
}

type ConsumerGroupStatus struct {
	Cluster         string             `json:"cluster"`
	Group           string             `json:"group"`
	Status          StatusConstant     `json:"status"`
	Complete        float32            `json:"complete"`
	Partitions      []*PartitionStatus `json:"partitions"`
	TotalPartitions int                `json:"partition_count"`
	Maxlag          *PartitionStatus   `json:"maxlag"`
	TotalLag        uint64             `json:"totallag"`
}
