import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Repartitioned;

/**
 * A Kafka Streams application of two subtopologies, in a group of the streams protocol (KIP-1071).
 *
 * <p>Arguments: bootstrap, application id, client id, input topic, output topic, then settings as name=value. It prints
 * READY when it runs, and ends in good order on SIGTERM or when its standard input does.
 */
public class StreamsApp {
    private static final PrintStream OUT = System.out;

    public static void main(String[] args) {
        System.setOut(System.err); // Log4j writes to what is standard output when it wakes up
        KafkaStreams streams = new KafkaStreams(topology(args[3], args[4]), settings(args));
        streams.setUncaughtExceptionHandler(StreamsApp::giveUp);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                OUT.println("READY");
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> leave(streams)));
        streams.start();
        waitForEndOf(System.in);
        System.exit(0);
    }

    /** Without a store that is kept on disk: RocksDB is not on the class path. */
    private static Topology topology(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(input)
                .selectKey((key, value) -> value)
                .repartition(Repartitioned.as("by-value"))
                .to(output);
        return builder.build();
    }

    private static Properties settings(String[] args) {
        Properties settings = new Properties();
        settings.putAll(Map.of(
                "bootstrap.servers", args[0],
                "application.id", args[1],
                "client.id", args[2],
                "group.protocol", "streams",
                "commit.interval.ms", "200",
                "default.key.serde", Serdes.StringSerde.class.getName(),
                "default.value.serde", Serdes.StringSerde.class.getName(),
                "state.dir", System.getProperty("java.io.tmpdir")));
        for (int i = 5; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        return settings;
    }

    /** A test wants to see the failure, not an application that comes back from it. */
    private static StreamThreadExceptionResponse giveUp(Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    private static void leave(KafkaStreams streams) {
        streams.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.LEAVE_GROUP)
                .withTimeout(Duration.ofSeconds(8)));
    }

    private static void waitForEndOf(InputStream input) {
        try {
            while (input.read() >= 0) {}
        } catch (IOException error) {
            error.printStackTrace();
        }
    }
}
