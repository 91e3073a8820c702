import type { Actlog } from '@actlog/client';
import type { SpoolSurvey } from '../spool/spool-survey.ts';
import type { InstalledPackages } from './installed-packages.ts';
import type { KeyIdentity } from './key-identity.ts';
import type { Variables } from './variables.ts';

/** Options of `actlog doctor`, with their defaults. */
export interface DoctorOptions {
  /** Folder of the project. */
  readonly dir: string;
  /** Time limit of each step that uses the network, in milliseconds. */
  readonly timeoutMs: number;
  /** Limit of the journal of one process, in bytes, as the recorder's `maxSpoolBytes`. */
  readonly maxSpoolBytes: number;
  readonly allowInsecureHttp: boolean;
}

/** Times of a request, and the `Date` of its response, in Unix milliseconds. */
export interface ServiceTime {
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly dateMs: number;
}

/** Facts that the checks share. Each check reads those of earlier ones. */
export interface Facts {
  readonly options: DoctorOptions;
  readonly variables: Variables;
  /** Address of the service, once it is known to be valid. */
  baseURL?: URL;
  /** API key, once it is known to be well-formed. */
  apiKey?: string;
  /** Proxy in front of the service; undefined for a direct connection. */
  proxy?: URL;
  /** Client with the key and the address, without retries. */
  client?: Actlog;
  serviceTime?: ServiceTime;
  /** Name, tenant and scopes of the key, where the service shows them. */
  identity?: KeyIdentity;
  /** `false` if the service refused to list sessions with this key. */
  canRead?: boolean;
  spool?: SpoolSurvey;
  packages?: InstalledPackages;
}
