import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.ShareMemberDescription;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment.TaskIds;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.admin.StreamsGroupSubtopologyDescription;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/**
 * Says what Kafka's own Admin client knows about the groups of a cluster.
 *
 * <p>Argument: bootstrap. Each line of standard input is a question, a JSON array of strings, and gets one line of
 * JSON: ["groups"], ["group", id], ["delete-offsets", group, topic, partition]. What a question could not find out is
 * told in the answer's field "error"; the other fields still hold. It ends with its standard input.
 */
public class GroupOracle {
    private static final ObjectMapper JSON = new JsonMapper();
    private static final Comparator<TopicPartition> ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private final Admin admin;

    private GroupOracle(Admin admin) {
        this.admin = admin;
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // Log4j writes to what is standard output when it wakes up
        var questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", args[0], "request.timeout.ms", "10000", "default.api.timeout.ms", "20000");
        try (Admin admin = Admin.create(settings)) {
            GroupOracle oracle = new GroupOracle(admin);
            for (String line = questions.readLine(); line != null; line = questions.readLine()) {
                answers.println(JSON.writeValueAsString(oracle.answer(JSON.readValue(line, String[].class))));
            }
        }
    }

    private Map<String, Object> answer(String[] question) {
        Map<String, Object> answer = new LinkedHashMap<>();
        attempt(answer, () -> {
            switch (question[0]) {
                case "groups" -> answer.put("groups", listings().stream().map(this::describe).toList());
                case "group" -> answer.putAll(find(question[1]));
                case "delete-offsets" -> deleteOffsets(
                        question[1], new TopicPartition(question[2], Integer.parseInt(question[3])));
                default -> throw new IllegalArgumentException("no such question: " + question[0]);
            }
        });
        return answer;
    }

    private Collection<GroupListing> listings() throws Exception {
        return admin.listGroups().all().get();
    }

    private Map<String, Object> find(String group) throws Exception {
        for (GroupListing listing : listings()) {
            if (listing.groupId().equals(group)) {
                return describe(listing);
            }
        }
        return Map.of("group", group, "error", "the cluster lists no such group");
    }

    private void deleteOffsets(String group, TopicPartition partition) throws Exception {
        admin.deleteConsumerGroupOffsets(group, Set.of(partition)).all().get();
    }

    private Map<String, Object> describe(GroupListing listing) {
        String group = listing.groupId();
        GroupType type = listing.type().orElse(GroupType.UNKNOWN);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("group", group);
        answer.put("type", type.toString());
        answer.put("protocol", listing.protocol());
        answer.put("state", listing.groupState().map(Object::toString).orElse(null));
        switch (type) {
            case CLASSIC -> attempt(answer, () -> putClassic(answer, group));
            case CONSUMER -> attempt(answer, () -> putConsumer(answer, group));
            case SHARE -> attempt(answer, () -> putShare(answer, group));
            case STREAMS -> attempt(answer, () -> putStreams(answer, group));
            default -> addError(answer, "the broker does not tell the group's type");
        }
        if (type == GroupType.SHARE) {
            attempt(answer, () -> answer.put("share_offsets", shareOffsets(group)));
        } else {
            attempt(answer, () -> answer.put("offsets", offsets(group)));
        }
        return answer;
    }

    private void putClassic(Map<String, Object> answer, String group) throws Exception {
        ClassicGroupDescription found = admin.describeClassicGroups(List.of(group)).all().get().get(group);
        answer.put("state", found.state().toString());
        answer.put("members", found.members().stream().map(GroupOracle::member).toList());
    }

    private void putConsumer(Map<String, Object> answer, String group) throws Exception {
        ConsumerGroupDescription found = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        answer.put("state", found.groupState().toString());
        answer.put("members", found.members().stream().map(GroupOracle::member).toList());
    }

    private void putShare(Map<String, Object> answer, String group) throws Exception {
        ShareGroupDescription found = admin.describeShareGroups(List.of(group)).all().get().get(group);
        answer.put("state", found.groupState().toString());
        answer.put("members", found.members().stream().map(GroupOracle::shareMember).toList());
    }

    private void putStreams(Map<String, Object> answer, String group) throws Exception {
        StreamsGroupDescription found = admin.describeStreamsGroups(List.of(group)).all().get().get(group);
        answer.put("state", found.groupState().toString());
        answer.put("members", found.members().stream().map(GroupOracle::streamsMember).toList());
        answer.put("topology", found.subtopologies().stream().map(GroupOracle::subtopology).toList());
    }

    private List<Object> offsets(String group) throws Exception {
        var found = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        List<Object> rows = new ArrayList<>();
        for (TopicPartition at : sorted(found.keySet())) {
            var commit = Optional.ofNullable(found.get(at)); // null is a partition without a commit
            Map<String, Object> row = place(at);
            row.put("offset", commit.map(it -> it.offset()).orElse(null));
            row.put("metadata", commit.map(it -> it.metadata()).orElse(null));
            rows.add(row);
        }
        return rows;
    }

    private List<Object> shareOffsets(String group) throws Exception {
        var all = Map.of(group, new ListShareGroupOffsetsSpec());
        var found = admin.listShareGroupOffsets(all).partitionsToOffsetInfo(group).get();
        List<Object> rows = new ArrayList<>();
        for (TopicPartition at : sorted(found.keySet())) {
            var info = Optional.ofNullable(found.get(at));
            Map<String, Object> row = place(at);
            row.put("start_offset", info.map(it -> it.startOffset()).orElse(null));
            row.put("lag", info.flatMap(it -> it.lag()).orElse(null));
            rows.add(row);
        }
        return rows;
    }

    private static Map<String, Object> member(MemberDescription found) {
        Map<String, Object> row = member(found.consumerId(), found.clientId(), found.host(), found.groupInstanceId());
        row.put("assignment", places(found.assignment().topicPartitions()));
        return row;
    }

    private static Map<String, Object> shareMember(ShareMemberDescription found) {
        Map<String, Object> row = member(found.consumerId(), found.clientId(), found.host(), Optional.empty());
        row.put("assignment", places(found.assignment().topicPartitions()));
        return row;
    }

    private static Map<String, Object> streamsMember(StreamsGroupMemberDescription found) {
        Map<String, Object> row = member(found.memberId(), found.clientId(), found.clientHost(), found.instanceId());
        row.put("active_tasks", found.assignment().activeTasks().stream().map(GroupOracle::tasks).toList());
        return row;
    }

    private static Map<String, Object> member(String id, String client, String host, Optional<String> instance) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("member_id", id);
        row.put("client_id", client);
        row.put("host", host);
        row.put("instance_id", instance.orElse(null));
        return row;
    }

    private static Map<String, Object> tasks(TaskIds found) {
        return Map.of("subtopology", found.subtopologyId(), "partitions", new TreeSet<>(found.partitions()));
    }

    private static Map<String, Object> subtopology(StreamsGroupSubtopologyDescription found) {
        return Map.of(
                "subtopology", found.subtopologyId(),
                "source_topics", new TreeSet<>(found.sourceTopics()),
                "repartition_source_topics", new TreeSet<>(found.repartitionSourceTopics().keySet()));
    }

    private static List<Map<String, Object>> places(Collection<TopicPartition> partitions) {
        return sorted(partitions).stream().map(GroupOracle::place).toList();
    }

    private static Map<String, Object> place(TopicPartition at) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", at.topic());
        row.put("partition", at.partition());
        return row;
    }

    private static List<TopicPartition> sorted(Collection<TopicPartition> partitions) {
        return partitions.stream().sorted(ORDER).toList();
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Takes one step of an answer; when it fails, the answer says so and keeps what it has. */
    private static void attempt(Map<String, Object> answer, Step step) {
        try {
            step.run();
        } catch (ExecutionException error) {
            addError(answer, String.valueOf(error.getCause()));
        } catch (Exception error) {
            addError(answer, error.toString());
        }
    }

    private static void addError(Map<String, Object> answer, String error) {
        answer.merge("error", error, (before, now) -> before + "; " + now);
    }
}
