package taskscale.workloads;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;

/** A file of bytes, or a response. */
public record Source(Path path, URI uri) {
    /** One for all passes, as in other programs. Made before anything is timed. */
    private static final class Client {
        static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    /** A file or a response, with what is needed to ask for it. */
    public static Source of(String kind, String at) {
        if (kind.equals("file")) {
            return new Source(Path.of(at), null);
        }
        // A connection is closed behind its response: what a pass opens it closes. The client reads this when it is made.
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
        Client.HTTP.version();
        return new Source(null, URI.create(at));
    }

    /** The file or the response of {@code size} bytes, where the environment says. */
    static Source asked(String kind, long size) {
        boolean file = kind.equals("file");
        String name = file ? "TASKSCALE_BYTES" : "TASKSCALE_BYTES_URL", place = System.getenv(name);
        if (place == null || place.isEmpty()) {
            throw new IllegalArgumentException(name + " is not set: it names " + (file ? "the folder in" : "the server from")
                    + " which " + size + ".bytes is; `taskscale run` sets it");
        }
        return of(kind, place + "/" + size + ".bytes");
    }

    /** A stream without a buffer of its own. */
    public InputStream open() throws IOException, InterruptedException {
        return uri == null ? new FileInputStream(path.toFile()) : send(HttpResponse.BodyHandlers.ofInputStream());
    }

    /** What a handler makes of the response. */
    public <T> T send(HttpResponse.BodyHandler<T> handler) throws IOException, InterruptedException {
        HttpResponse<T> response = Client.HTTP.send(HttpRequest.newBuilder(uri).header("Connection", "close").build(), handler);
        if (response.statusCode() != 200) {
            throw new IOException(uri + " answered " + response.statusCode());
        }
        return response.body();
    }
}
