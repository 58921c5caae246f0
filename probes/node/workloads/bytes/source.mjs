// Where the bytes are: the file and the server that the tool has made. Both are named by the environment, which is read before
// anything is timed.

import { createReadStream } from "node:fs";
import { get } from "node:http";
import { Readable } from "node:stream";

export class FileSource {
  constructor(path) {
    this.path = path;
  }

  readable(chunk) {
    return createReadStream(this.path, { highWaterMark: chunk });
  }

  webStream(chunk) {
    return Readable.toWeb(this.readable(chunk));
  }
}

/** A response. Its connection is closed behind it: what a pass opens it closes. */
export class HttpSource {
  constructor(url) {
    this.url = url;
  }

  readable() {
    return new Promise((resolve, reject) => {
      const take = (response) => {
        if (response.statusCode === 200) return resolve(response);
        response.destroy();
        reject(new Error(`${this.url} answered ${response.statusCode}`));
      };
      get(this.url, { agent: false }, take).on("error", reject);
    });
  }

  async response() {
    const response = await fetch(this.url, { headers: { connection: "close" } });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new Error(`${this.url} answered ${response.status}`);
  }

  async webStream() {
    return (await this.response()).body;
  }
}

/** The file or the response of `size` bytes. */
export function asked(kind, size) {
  const isFile = kind === "file";
  const [name, what] = isFile ? ["TASKSCALE_BYTES", "the folder in which"] : ["TASKSCALE_BYTES_URL", "the server from which"];
  const place = process.env[name];
  if (!place) throw new Error(`${name} is not set: it names ${what} ${size}.bytes is; \`taskscale run\` sets it`);
  return isFile ? new FileSource(`${place}/${size}.bytes`) : new HttpSource(`${place}/${size}.bytes`);
}
