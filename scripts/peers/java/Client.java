import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A producer and a push consumer that do what the lines of the input say and answer each with one line, which begins with
 * "= " so that it is known among what the client logs:
 *
 * <pre>
 * start NAMESRV GROUP TOPIC   started          the consumer reads TOPIC from its beginning
 * send TOPIC N PREFIX         sent N           bodies PREFIX-0 … PREFIX-(N-1)
 * received N PREFIX SECONDS   received N       distinct bodies that begin with PREFIX, waiting at most so long
 * steady TOPIC PREFIX         steady           sends a message every 100 ms until "rest"
 * rest                        sent N failed M …  and the last error, if any
 * </pre>
 *
 * Anything that goes wrong is answered with a line "error …".
 */
public class Client {
    private static final DefaultMQProducer producer = new DefaultMQProducer("none");
    private static final DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("none");
    private static final Map<String, Set<String>> received = new ConcurrentHashMap<>(); // prefix, then bodies
    private static Thread steady;
    private static volatile boolean resting;
    private static volatile int steadySent, steadyFailed;
    private static volatile String lastError;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = run(line.split(" "));
            } catch (Throwable e) {
                answer = "error " + e.toString().replace('\n', ' ');
            }
            System.out.println("= " + answer);
            System.out.flush();
        }
        consumer.shutdown();
        producer.shutdown();
        System.exit(0);
    }

    private static String run(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                start(words[1], words[2], words[3]);
                return "started";
            case "send":
                int n = Integer.parseInt(words[2]);
                for (int i = 0; i < n; i++) {
                    send(words[1], words[3] + "-" + i);
                }
                return "sent " + n;
            case "received":
                return "received " + await(Integer.parseInt(words[1]), words[2], Integer.parseInt(words[3]));
            case "steady":
                resting = false;
                steadySent = steadyFailed = 0;
                lastError = "";
                steady = new Thread(() -> sendSteadily(words[1], words[2]));
                steady.start();
                return "steady";
            case "rest":
                resting = true;
                steady.join();
                return "sent " + steadySent + " failed " + steadyFailed + lastError;
            default:
                return "error unknown command " + words[0];
        }
    }

    private static void start(String namesrv, String group, String topic) throws Exception {
        consumer.setNamesrvAddr(namesrv);
        consumer.setConsumerGroup(group);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPollNameServerInterval(2000);
        consumer.setHeartbeatBrokerInterval(5000);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt m : messages) {
                String body = new String(m.getBody(), StandardCharsets.UTF_8);
                String prefix = body.substring(0, body.lastIndexOf('-'));
                received.computeIfAbsent(prefix, p -> ConcurrentHashMap.newKeySet()).add(body);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        producer.setNamesrvAddr(namesrv);
        producer.setProducerGroup(group + "-producer");
        producer.setPollNameServerInterval(2000);
        producer.setHeartbeatBrokerInterval(5000);
        producer.setSendMsgTimeout(10000);
        producer.start();
    }

    private static void send(String topic, String body) throws Exception {
        SendResult r = producer.send(new Message(topic, body.getBytes(StandardCharsets.UTF_8)));
        if (r.getSendStatus() != SendStatus.SEND_OK) {
            throw new IllegalStateException("send status " + r.getSendStatus());
        }
    }

    private static void sendSteadily(String topic, String prefix) {
        for (int i = 0; !resting; i++) {
            try {
                send(topic, prefix + "-" + i);
                steadySent++;
                Thread.sleep(100);
            } catch (Throwable e) {
                steadyFailed++;
                lastError = " " + e.toString().replace('\n', ' ');
            }
        }
    }

    private static int await(int n, String prefix, int seconds) throws InterruptedException {
        Set<String> bodies = received.computeIfAbsent(prefix, p -> ConcurrentHashMap.newKeySet());
        for (long end = System.nanoTime() + seconds * 1_000_000_000L; bodies.size() < n && System.nanoTime() < end; ) {
            Thread.sleep(20);
        }
        return bodies.size();
    }
}
