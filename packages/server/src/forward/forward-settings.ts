import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { recordKinds } from '@actlog/log';
import * as z from 'zod';
import type { Destination } from './destination.ts';
import { ElasticDestination } from './elastic.ts';
import { OtlpDestination } from './otlp.ts';
import { S3Destination } from './s3.ts';
import { SplunkDestination } from './splunk.ts';
import { SyslogDestination } from './syslog.ts';

const forwardedKinds = [...recordKinds, 'risk'] as const;

const kinds = ['splunk', 'elastic', 's3', 'syslog', 'otlp'] as const;

const url = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://siem.example.com' })
  // Errors and metrics of other programs show addresses.
  .refine((address) => !/^https?:\/\/[^/]*@/i.test(address), 'must not contain a user name or password');
const file = z.string('must be the path of a file').min(1, 'must be the path of a file');
const word = z.string('must be a string').min(1, 'must not be empty');

/** A credential: never part of the settings, which show in process lists and errors. */
const credential = z.union(
  [z.strictObject({ file }), z.strictObject({ variable: word })],
  'must be {"file":"/run/secrets/token"} or {"variable":"SIEM_TOKEN"}, never the secret itself',
);

const common = {
  /** Name in metrics, log lines and the database: under another name, everything is sent again. Default: the kind. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and "-", such as "soc"')
    .optional(),
  /** Kinds of records to send; `risk` for raises of the risk of sessions. */
  records: z
    .array(z.enum(forwardedKinds, `must be among ${forwardedKinds.join(', ')}`))
    .min(1)
    .default([...forwardedKinds]),
  /** Tenants whose records are sent. Default: all. */
  tenants: z.array(word).min(1).optional(),
  /** Maximum records of a batch. */
  batchRecords: z.int('must be a whole number').min(1).max(10_000).default(500),
  /** Size from which a batch gets no more records, in bytes of JSON. */
  batchBytes: z.int('must be a whole number').min(1000).max(64_000_000).default(1_000_000),
  /** Seconds for which a batch that is not full waits for more records. */
  maxDelaySeconds: z.number().min(0).max(3600).default(0),
};

const destination = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('splunk'),
      ...common,
      url,
      token: credential,
      index: word.optional(),
      sourcetype: word.default('actlog:ocsf'),
      acknowledge: z.boolean('must be true or false').default(false),
      caFile: file.optional(),
    }),
    z.strictObject({
      kind: z.literal('elastic'),
      ...common,
      url,
      index: word.default('actlog'),
      apiKey: credential.optional(),
      username: word.optional(),
      password: credential.optional(),
      caFile: file.optional(),
    }),
    z.strictObject({
      kind: z.literal('s3'),
      ...common,
      maxDelaySeconds: common.maxDelaySeconds.unwrap().default(60),
      batchRecords: common.batchRecords.unwrap().default(10_000),
      batchBytes: common.batchBytes.unwrap().default(16_000_000),
      url,
      bucket: word,
      prefix: z.string('must be a string').default(''),
      region: word.default('us-east-1'),
      accessKeyId: credential,
      secretAccessKey: credential,
      format: z.enum(['ndjson', 'parquet'], 'must be "ndjson" or "parquet"').default('ndjson'),
      caFile: file.optional(),
    }),
    z.strictObject({
      kind: z.literal('syslog'),
      ...common,
      host: word,
      port: z.int().min(1).max(65_535).default(6514),
      caFile: file.optional(),
      certFile: file.optional(),
      keyFile: file.optional(),
    }),
    z.strictObject({
      kind: z.literal('otlp'),
      ...common,
      url,
      header: word.default('authorization'),
      token: credential.optional(),
      caFile: file.optional(),
    }),
  ],
  {
    error: ({ code }) => (code === 'invalid_union' ? `must be one of ${kinds.join(', ')}` : undefined),
  },
);

const list = z.array(destination, 'must be an array such as [{"kind":"splunk",…}], or a file with one');

type DestinationSettings = z.output<typeof destination>;

/** Settings of a forwarder: a destination, with the records that it receives. */
export type ForwardSettings = DestinationSettings & { readonly name: string };

/** Schema of the setting `forward`: a list of destinations, its JSON, or the path of a file with it. */
export const forwardSetting: z.ZodType<
  readonly ForwardSettings[],
  string | readonly z.input<typeof destination>[]
> = z.unknown().transform((given, context): readonly ForwardSettings[] => {
  let value = given;
  if (typeof given === 'string') {
    try {
      value = JSON.parse(given.trimStart().startsWith('[') ? given : readFileSync(given, 'utf8'));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const message =
        code === undefined
          ? 'must be valid JSON: an array such as [{"kind":"splunk",…}]'
          : `must be JSON, or the path of a file that can be read (${code})`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  }
  const { data, error } = list.safeParse(value);
  if (error) {
    for (const { path, message } of error.issues)
      context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  }
  const named = data.map((settings) => ({ ...settings, name: settings.name ?? settings.kind }));
  const names = new Set<string>();
  for (const [at, { name }] of named.entries()) {
    if (names.has(name)) {
      const message = `must differ from the other names, got "${name}" twice`;
      context.addIssue({ code: 'custom', path: [at, 'name'], message });
    }
    names.add(name);
  }
  return named;
}) as never;

/**
 * Creates the destination of a forwarder, and reads its credentials.
 *
 * @throws Error when a file or variable with a credential or certificate cannot be read
 */
export function createDestination(settings: ForwardSettings): Destination {
  const read = (field: string, from: z.output<typeof credential>): string => {
    const name = `forward.${settings.name}.${field}`;
    const secret = 'file' in from ? contentOf(name, from.file) : process.env[from.variable];
    if (secret !== undefined && secret.trim() !== '') return secret.trim();
    throw new Error(
      'file' in from
        ? `${name}: the file "${from.file}" is empty; write the credential to it.`
        : `${name}: the variable ${from.variable} is not set; set it to the credential.`,
    );
  };
  for (const field of ['caFile', 'certFile', 'keyFile'] as const) {
    const path = (settings as Partial<Record<typeof field, string>>)[field];
    if (path !== undefined) contentOf(`forward.${settings.name}.${field}`, path);
  }
  switch (settings.kind) {
    case 'splunk':
      return new SplunkDestination({ ...settings, token: read('token', settings.token) });
    case 'elastic': {
      const { apiKey, password } = settings;
      return new ElasticDestination({
        ...settings,
        apiKey: apiKey && read('apiKey', apiKey),
        password: password && read('password', password),
      });
    }
    case 's3':
      return new S3Destination({
        ...settings,
        accessKeyId: read('accessKeyId', settings.accessKeyId),
        secretAccessKey: read('secretAccessKey', settings.secretAccessKey),
      });
    case 'syslog':
      return new SyslogDestination({ ...settings, hostname: hostname() });
    case 'otlp':
      return new OtlpDestination({ ...settings, token: settings.token && read('token', settings.token) });
  }
}

function contentOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`${name}: the file "${path}" cannot be read (${code}).`, { cause });
  }
}
