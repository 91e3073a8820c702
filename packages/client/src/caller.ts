import { type EndpointName, endpoints, headers as names, type ResponseOf } from '@actlog/protocol';
import type { Answer } from './answer.ts';
import type { BodySink } from './body-sink.ts';
import type { Call, Outcome } from './call.ts';
import { CallRun } from './call-run.ts';
import { endpointPath } from './endpoint-path.ts';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { mintEventId } from './event-id.ts';
import { type Query, queryString } from './query-string.ts';
import { withOverrides } from './request-headers.ts';
import type { RequestOptions } from './request-options.ts';
import { RequestPromise } from './request-promise.ts';
import type { Settings } from './settings.ts';
import type { Transport } from './transport.ts';

/** What a resource's method passes on. */
export interface CallArguments {
  readonly id?: string | undefined;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly options?: RequestOptions | undefined;
}

/** A call of any kind, before it is made ready. */
interface FreeCall extends CallArguments {
  readonly method: string;
  /** Path, already encoded. */
  readonly path: string;
  readonly repeatable: boolean;
  readonly honoursIdempotencyKey: boolean;
}

/** Turns the methods of the resources into calls. One a client; the resources share it. */
export class Caller {
  readonly #settings: Settings;
  readonly #transport: Transport;

  constructor(settings: Settings, transport: Transport) {
    this.#settings = settings;
    this.#transport = transport;
  }

  /**
   * Calls an endpoint of the table, and gives its JSON object. A change may be answered without a body, as the
   * specification leaves that open: then the result is the identifier of what was changed, and no more.
   */
  call<Name extends EndpointName>(
    name: Name,
    given: CallArguments,
    check?: (body: Record<string, unknown>, answer: Answer) => void,
  ): RequestPromise<ResponseOf<Name>> {
    return new RequestPromise(
      this.run(name, given, (answer) => {
        const { id } = given;
        const isBareChange = answer.isEmpty && id !== undefined && endpoints[name].method !== 'GET';
        const body = isBareChange ? { id } : answer.jsonObject();
        check?.(body, answer);
        return body as ResponseOf<Name>;
      }),
    );
  }

  /** A call that is refused before anything is sent. */
  refuse(message: string): RequestPromise<never> {
    return new RequestPromise(Promise.reject(new InvalidArgumentError(message)));
  }

  /** Calls an endpoint of the table, and reads its answer in a way of its own. */
  async run<Data>(
    name: EndpointName,
    given: CallArguments,
    read: (answer: Answer) => Data | Promise<Data>,
    openSink?: () => BodySink,
  ): Promise<Outcome<Data>> {
    const { method, path, repeatable, idempotencyKey } = endpoints[name];
    const call = { method, path: endpointPath(path, given.id), repeatable };
    return this.#send({ ...given, ...call, honoursIdempotencyKey: idempotencyKey }, read, openSink);
  }

  /** Calls any path of the deployment, and gives its JSON, or its text where it says that it is something else. */
  async free(method: string, path: string, given: CallArguments): Promise<Outcome<unknown>> {
    const repeatable = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/.test(method); // RFC 9110, section 9.2.2
    return this.#send({ ...given, method, path, repeatable, honoursIdempotencyKey: false }, (answer) =>
      answer.jsonOrText(),
    );
  }

  #send<Data>(
    free: FreeCall,
    read: (answer: Answer) => Data | Promise<Data>,
    openSink?: () => BodySink,
  ): Promise<Outcome<Data>> {
    const { method, path, query, options = {} } = free;
    const { baseURL } = this.#settings;
    const search = queryString(options.extraQuery ? { ...query, ...options.extraQuery } : query);
    const [bare = path, ...behind] = path.split('?');
    const ownSearch = behind.join('?'); // a question mark may stand in a query (RFC 3986, section 3.4)
    const body = bodyText(free.body, options.extraBody);
    const call: Call<Data> = {
      method,
      path: bare,
      target: baseURL.pathPrefix + bare + (ownSearch ? `?${ownSearch}${search.replace('?', '&')}` : search),
      headers: this.#headers(body !== undefined, free.honoursIdempotencyKey, options),
      body,
      repeatable: free.repeatable || options.idempotencyKey !== undefined,
      options,
      read,
      ...(openSink ? { openSink } : {}),
    };
    return new CallRun(call, this.#settings, this.#transport).run();
  }

  #headers(
    hasBody: boolean,
    honoursIdempotencyKey: boolean,
    { headers, idempotencyKey }: RequestOptions,
  ): Readonly<Record<string, string>> {
    const base = hasBody ? this.#settings.headers : this.#settings.headersWithoutBody;
    const key = idempotencyKey ?? (honoursIdempotencyKey ? mintEventId() : undefined);
    if (key === undefined && headers === undefined) return base;
    const own = key === undefined ? base : withOverrides(base, { [names.idempotencyKey]: key });
    return withOverrides(own, headers);
  }
}

/**
 * Writes the body before anything is awaited: what the caller changes afterwards is not sent.
 *
 * @throws InvalidArgumentError When it cannot be written as JSON.
 */
function bodyText(body: unknown, extra: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (body === undefined && extra === undefined) return undefined;
  try {
    const text = JSON.stringify(extra ? { ...(body as object), ...extra } : body);
    if (typeof text === 'string') return text;
  } catch (cause) {
    throw new InvalidArgumentError('body is no JSON: take out cycles and BigInt values.', {
      cause,
    });
  }
  throw new InvalidArgumentError(`body is no JSON, but a ${typeof body}.`);
}
