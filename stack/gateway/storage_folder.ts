import {
  copyObjectFile,
  objectPath,
  readObjectFile,
  statObjectFile,
  writeObjectFile,
} from "./object_file.ts";
import type { ObjectStat } from "./object_file.ts";
import type { StorageAdapter } from "./lite_generation.ts";

/** The folder that holds the bytes of objects. */
export interface StorageFolder {
  readonly adapter: StorageAdapter;
  /** Removes a temporary folder; a kept one stays. */
  close(): Promise<void>;
}

/** Opens `<dataDir>/storage`, or a temporary folder for `null`. */
export async function openStorageFolder(dataDir: string | null): Promise<StorageFolder> {
  const root = dataDir === null
    ? await Deno.makeTempDir({ prefix: "supaswarm-storage-" })
    : `${dataDir}/storage`;
  await Deno.mkdir(root, { recursive: true });
  return {
    adapter: createAdapter(root),
    close: async () => {
      if (dataDir === null) await Deno.remove(root, { recursive: true });
    },
  };
}

/** The service's storage port on files. Versions are not kept: an object is its newest bytes. */
function createAdapter(root: string): StorageAdapter {
  const remove = async (bucket: string, key: string) => {
    try {
      await Deno.remove(await objectPath(root, bucket, key));
    } catch (error) {
      // A row without bytes can still be deleted.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  };
  return {
    driver: null,
    uploadObject: async (bucket, key, _version, body, mimetype, cacheControl) => {
      const path = await objectPath(root, bucket, key);
      const bytes = body instanceof ReadableStream ? body : ReadableStream.from([body]);
      await writeObjectFile(path, { mimetype, cacheControl }, bytes);
      return toMetadata(await statObjectFile(path));
    },
    getObject: async (bucket, key) => {
      const { body, ...stat } = await readObjectFile(await objectPath(root, bucket, key));
      return { metadata: toMetadata(stat), httpStatusCode: 200, body };
    },
    headObject: async (bucket, key) =>
      toMetadata(await statObjectFile(await objectPath(root, bucket, key))),
    deleteObject: remove,
    deleteObjects: async (bucket, keys) => {
      for (const key of keys) await remove(bucket, key);
    },
    copyObject: async (bucket, key, _version, targetBucket, targetKey) => {
      const path = await objectPath(root, targetBucket, targetKey);
      await copyObjectFile(await objectPath(root, bucket, key), path);
      const { eTag, lastModified } = toMetadata(await statObjectFile(path));
      return { httpStatusCode: 200, eTag, ...(lastModified && { lastModified }) };
    },
    privateAssetUrl: () => Promise.reject(new Error("Image transformation is not provided")),
  };
}

function toMetadata({ head, sizeBytes, modifiedAt }: ObjectStat) {
  return {
    mimetype: head.mimetype,
    cacheControl: head.cacheControl,
    size: sizeBytes,
    contentLength: sizeBytes,
    lastModified: modifiedAt,
    eTag: `"${modifiedAt.getTime().toString(16)}-${sizeBytes.toString(16)}"`,
    httpStatusCode: 200,
  };
}
