import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { atTestEnd } from '../test-end.ts';

/** Credentials that the server accepts. */
export const s3Keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** A running S3 server with the bucket `agents`. */
export interface S3Server {
  readonly url: string;
  /** Returns the names of the objects that begin with a prefix, sorted. */
  names(prefix: string): string[];
  /** Returns an object. */
  read(name: string): Buffer;
}

/** Starts an S3 server, which checks the access key, but not the signature, and keeps objects in files. */
export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'actlog-s3-'));
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'agents', configs: [] }],
  });
  const { port } = await server.run();
  atTestEnd(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const ending = '._S3rver_object';
  return {
    url: `http://127.0.0.1:${port}`,
    names: (prefix) =>
      readdirSync(join(directory, 'agents'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.startsWith(prefix) && name.endsWith(ending))
        .map((name) => name.slice(0, -ending.length))
        .sort(),
    read: (name) => readFileSync(join(directory, 'agents', `${name}${ending}`)),
  };
}
