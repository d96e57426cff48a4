import {
  copyObjectFile,
  objectPath,
  readObjectFile,
  statObjectFile,
  writeObjectFile,
} from "./object_file.ts";
import type { ObjectStat } from "./object_file.ts";
import type { StorageAdapter } from "./lite_generation.ts";

/** The folder of the objects' bytes. */
export interface StorageFolder {
  readonly adapter: StorageAdapter;
  /** Removes the folder if it is temporary. */
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

/** Implements the service's storage interface with files. Keeps only the newest version. */
function createAdapter(root: string): StorageAdapter {
  const remove = async (bucket: string, key: string) => {
    try {
      await Deno.remove(objectPath(root, bucket, key));
    } catch (error) {
      // Deleting an object must also work when its file is missing.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  };
  return {
    driver: null,
    uploadObject: async (bucket, key, _version, body, mimetype, cacheControl) => {
      const path = objectPath(root, bucket, key);
      const bytes = body instanceof ReadableStream ? body : ReadableStream.from([body]);
      await writeObjectFile(path, { mimetype, cacheControl }, bytes);
      return toMetadata(await statObjectFile(path));
    },
    getObject: async (bucket, key) => {
      const { body, ...stat } = await readObjectFile(objectPath(root, bucket, key));
      return { metadata: toMetadata(stat), httpStatusCode: 200, body };
    },
    headObject: async (bucket, key) =>
      toMetadata(await statObjectFile(objectPath(root, bucket, key))),
    deleteObject: remove,
    deleteObjects: async (bucket, keys) => {
      for (const key of keys) await remove(bucket, key);
    },
    copyObject: async (bucket, key, _version, targetBucket, targetKey) => {
      const path = objectPath(root, targetBucket, targetKey);
      await copyObjectFile(objectPath(root, bucket, key), path);
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
