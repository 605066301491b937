import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** A single node of OpenSearch without plugins but the one for HTTP. Arguments: its directory, its port. */
public class SearchNode extends Node {
    private static final String NAME = "search";

    private SearchNode(Settings settings, Path home) {
        super(
                InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home, () -> NAME),
                List.of(Netty4Plugin.class),
                false);
    }

    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]);
        LogConfigurator.setNodeName(NAME);
        SearchNode node = new SearchNode(settings(home, args[1]), home);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        Thread.currentThread().join();
    }

    private static Settings settings(Path home, String port) {
        return Settings.builder()
                .put("path.home", home.toString())
                .put("cluster.name", "warren-test")
                .put("discovery.type", "single-node")
                .put("network.host", "127.0.0.1")
                .put("http.port", port)
                .put("transport.port", "0")
                .put("http.type", "netty4")
                .put("transport.type", "netty4")
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build();
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (java.io.IOException error) {
            error.printStackTrace();
        }
    }
}
