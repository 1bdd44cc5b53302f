import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Commits and reads consumer offsets, which needs no messages. Each line of the input is answered with one line, which begins
 * with "= " so that it is known among what the client logs. Offsets are written QUEUE:OFFSET, ascending by queue:
 *
 * <pre>
 * push NAMESRV GROUP TOPIC       started     a push consumer, which begins new groups at 0
 * lite NAMESRV GROUP TOPIC N     started     a lite pull consumer with queues 0 … N-1 of broker-a assigned
 * position N SECONDS             0:1 1:-1 …  where the consumer stands, waiting for N queues at most so long; -1: at 0 for
 *                                            want of an offset
 * stored N                       0:1 1:-1 …  what the broker says of queues 0 … N-1; -1: it does not know
 * move 0:1 …                     moved       moves the consumer, which commits that, one-way
 * commit 0:1                     committed   commits and waits for the answer
 * end                            ended       shuts the consumer down
 * admin NAMESRV                  ready       for the commands below
 * set ADDR GROUP TOPIC 0:1       set         at the broker of this address
 * clone FROM TO TOPIC OFFLINE    cloned      at all brokers of TOPIC
 * groups TOPIC                   groups A …  that consume the topic
 * topics GROUP                   topics A …  that the group has offsets of; "error unknown" with clients before 5
 * </pre>
 *
 * Anything that goes wrong is answered with a line "error …".
 */
@SuppressWarnings("deprecation") // the newer line marks what the older one has only
public class Offsets {
    private static DefaultMQPushConsumer push;
    private static DefaultLitePullConsumer lite;
    private static DefaultMQAdminExt admin;
    private static OffsetStore store;
    private static String topic;

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
        end();
        System.exit(0);
    }

    private static String run(String[] words) throws Exception {
        switch (words[0]) {
            case "push":
                startPush(words[1], words[2], words[3]);
                return "started";
            case "lite":
                startLite(words[1], words[2], words[3], Integer.parseInt(words[4]));
                return "started";
            case "position":
                return position(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "stored":
                Map<Integer, Long> stored = new TreeMap<>();
                for (MessageQueue q : queues(Integer.parseInt(words[1]))) {
                    stored.put(q.getQueueId(), store.readOffset(q, ReadOffsetType.READ_FROM_STORE));
                }
                return text(stored);
            case "move":
                move(words);
                return "moved";
            case "commit":
                for (Map.Entry<MessageQueue, Long> e : offsets(words, 1, topic).entrySet()) {
                    store.updateConsumeOffsetToBroker(e.getKey(), e.getValue(), false);
                }
                return "committed";
            case "end":
                end();
                return "ended";
            case "admin":
                admin = new DefaultMQAdminExt();
                admin.setNamesrvAddr(words[1]);
                admin.setInstanceName(UUID.randomUUID().toString());
                admin.start();
                return "ready";
            case "set":
                for (Map.Entry<MessageQueue, Long> e : offsets(words, 4, words[3]).entrySet()) {
                    admin.updateConsumeOffset(words[1], words[2], e.getKey(), e.getValue());
                }
                return "set";
            case "clone":
                admin.cloneGroupOffset(words[1], words[2], words[3], Boolean.parseBoolean(words[4]));
                return "cloned";
            case "groups":
                var groups = admin.queryTopicConsumeByWho(words[1]); // its class differs with the line
                return "groups " + String.join(" ", new TreeSet<>(groups.getGroupList()));
            case "topics":
                return "topics " + String.join(" ", new TreeSet<>(topicsOf(words[1])));
            default:
                return "error unknown command " + words[0];
        }
    }

    private static void startPush(String namesrv, String group, String of) throws Exception {
        end();
        topic = of;
        push = new DefaultMQPushConsumer(group);
        push.setNamesrvAddr(namesrv);
        push.setInstanceName(UUID.randomUUID().toString());
        push.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        push.setPersistConsumerOffsetInterval(1000);
        push.subscribe(of, "*");
        push.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        push.start();
        store = push.getDefaultMQPushConsumerImpl().getOffsetStore();
    }

    private static void startLite(String namesrv, String group, String of, int n) throws Exception {
        end();
        topic = of;
        lite = new DefaultLitePullConsumer(group);
        lite.setNamesrvAddr(namesrv);
        lite.setInstanceName(UUID.randomUUID().toString());
        lite.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        lite.setAutoCommit(false);
        lite.start();
        lite.assign(queues(n));
        store = lite.getOffsetStore();
    }

    private static void end() {
        if (push != null) {
            push.shutdown();
        }
        if (lite != null) {
            lite.shutdown();
        }
        push = null;
        lite = null;
    }

    private static String position(int n, int seconds) throws Exception {
        Map<Integer, Long> at = new TreeMap<>();
        for (long end = System.nanoTime() + seconds * 1_000_000_000L; ; Thread.sleep(20)) {
            if (lite != null) {
                for (MessageQueue q : queues(n)) {
                    at.put(q.getQueueId(), lite.committed(q));
                }
            } else {
                for (MessageQueue q : push.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().keySet()) {
                    if (q.getTopic().equals(topic)) {
                        at.put(q.getQueueId(), store.readOffset(q, ReadOffsetType.READ_FROM_MEMORY));
                    }
                }
            }
            if (at.size() >= n || System.nanoTime() > end) {
                return text(at);
            }
        }
    }

    private static void move(String[] words) {
        Map<MessageQueue, Long> to = offsets(words, 1, topic);
        if (lite != null) {
            lite.commitSync(to, true);
            return;
        }
        for (Map.Entry<MessageQueue, Long> e : to.entrySet()) {
            store.updateOffset(e.getKey(), e.getValue(), false);
        }
        push.getDefaultMQPushConsumerImpl().persistConsumerOffset();
    }

    @SuppressWarnings("unchecked") // by reflection: clients before 5 lack it
    private static Collection<String> topicsOf(String group) throws Exception {
        Method query;
        try {
            query = DefaultMQAdminExt.class.getMethod("queryTopicsByConsumer", String.class);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("unknown");
        }
        Object list = query.invoke(admin, group);
        return (Collection<String>) list.getClass().getMethod("getTopicList").invoke(list);
    }

    private static List<MessageQueue> queues(int n) {
        List<MessageQueue> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(new MessageQueue(topic, "broker-a", i));
        }
        return all;
    }

    private static Map<MessageQueue, Long> offsets(String[] words, int from, String of) {
        Map<MessageQueue, Long> all = new TreeMap<>();
        for (int i = from; i < words.length; i++) {
            String[] parts = words[i].split(":");
            all.put(new MessageQueue(of, "broker-a", Integer.parseInt(parts[0])), Long.parseLong(parts[1]));
        }
        return all;
    }

    private static String text(Map<Integer, Long> offsets) {
        List<String> all = new ArrayList<>();
        offsets.forEach((q, o) -> all.add(q + ":" + o));
        return String.join(" ", all);
    }
}
