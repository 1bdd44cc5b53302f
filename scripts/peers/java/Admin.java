import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Runs mqadmin commands one after another in one process. Each line of the input is a command, its words separated by tabs.
 * After each command's output comes a line "### done".
 */
public class Admin {
    public static void main(String[] args) throws Exception {
        System.setErr(System.out); // commands print their exceptions there: one stream keeps the order
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                MQAdminStartup.main0(line.split("\t"), null);
            } catch (Throwable e) {
                e.printStackTrace();
            }
            System.out.println();
            System.out.println("### done");
            System.out.flush();
        }
        System.exit(0); // admin tools may leave threads behind
    }
}
