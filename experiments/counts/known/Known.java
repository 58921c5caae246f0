// For each number on standard input, that many turns of one system call.
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;

public class Known {
    public static void main(String[] words) throws Exception {
        try (var nowhere = new FileOutputStream("/dev/null")) {
            var lines = new BufferedReader(new InputStreamReader(System.in));
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                long turns = Long.parseLong(line.strip());
                for (long i = 0; i < turns; i++) {
                    nowhere.write('x');
                }
                System.out.println("done");
            }
        }
    }
}
