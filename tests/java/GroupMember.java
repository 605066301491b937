import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A member of a group, by Kafka's own Java consumer: GroupMember BOOTSTRAP GROUP CLIENT-ID TOPIC [NAME=VALUE ...].
 * It commits what it has read, and leaves when its standard input ends.
 */
public class GroupMember {
    public static void main(String[] arguments) {
        Properties settings = new Properties();
        settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        settings.put(ConsumerConfig.GROUP_ID_CONFIG, arguments[1]);
        settings.put(ConsumerConfig.CLIENT_ID_CONFIG, arguments[2]);
        settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.put(ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG, "200");
        for (int i = 4; i < arguments.length; i++) {
            String[] pair = arguments[i].split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
            Thread guard = new Thread(() -> leaveWithInput(consumer));
            guard.setDaemon(true);
            guard.start();
            consumer.subscribe(List.of(arguments[3]));
            while (true) {
                consumer.poll(Duration.ofMillis(100));
            }
        } catch (WakeupException end) {
            System.out.println("LEFT");
        }
    }

    private static void leaveWithInput(KafkaConsumer<?, ?> consumer) {
        try {
            while (System.in.read() >= 0) {
                // whatever is said, only the end of it counts
            }
        } catch (IOException broken) {
            // as good as the end
        }
        consumer.wakeup();
    }
}
