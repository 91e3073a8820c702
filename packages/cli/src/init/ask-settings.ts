import { Actlog, InvalidArgumentError } from '@actlog/client';
import { InterruptedError } from '../errors/interrupted-error.ts';
import { UsageError } from '../errors/usage-error.ts';
import { canPrompt } from '../terminal/confirm.ts';

/** Address of a server that `actlog serve` starts. */
const localAddress = 'http://127.0.0.1:8787';

/** Settings that are known before anything is asked. */
export interface GivenSettings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  /** `true` takes the defaults. */
  readonly yes: boolean;
}

/** Address of the service, and the key if the user has one. */
export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/**
 * Asks for what is not known, in a terminal.
 *
 * @throws UsageError when the address or the key is invalid, or the address is unknown without a terminal
 * @throws InterruptedError when the user interrupts it
 */
export async function askSettings({ baseUrl, apiKey, yes }: GivenSettings): Promise<Settings> {
  const problem = problemOf({ baseUrl, apiKey });
  if (problem !== undefined) throw new UsageError(problem);
  const asks = canPrompt() && !yes;
  if (baseUrl === undefined && !asks && !yes) {
    throw new UsageError(
      `Pass --base-url or set ACTLOG_BASE_URL: there is no terminal to ask in. --yes takes ${localAddress}.`,
    );
  }
  if (!asks) return { baseUrl: baseUrl ?? localAddress, apiKey };
  const { isCancel, password, text } = await import('@clack/prompts');
  const asked = async (reply: Promise<string | symbol | undefined>) => {
    const value = await reply;
    if (isCancel(value)) throw new InterruptedError('SIGINT');
    return typeof value === 'string' ? value.trim() || undefined : undefined;
  };
  const address =
    baseUrl ??
    (await asked(
      text({
        message: 'Address of the service ("actlog serve" starts one)',
        defaultValue: localAddress,
        placeholder: localAddress,
        validate: (value) => problemOf({ baseUrl: value?.trim() || localAddress }),
      }),
    )) ??
    localAddress;
  const key =
    apiKey ??
    (await asked(
      password({
        message: 'API key with the scope "ingest" (Enter to add it later)',
        validate: (value) => problemOf({ apiKey: value?.trim() || undefined }),
      }),
    ));
  return { baseUrl: address, apiKey: key };
}

/** Returns the reason for which the client refuses an address or a key; undefined if it takes them. */
function problemOf({ baseUrl, apiKey }: Partial<GivenSettings>): string | undefined {
  try {
    new Actlog({
      baseURL: baseUrl ?? localAddress,
      apiKey: apiKey ?? 'al_test_none',
      allowInsecureHttp: true,
      proxy: false,
    });
    return undefined;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.message;
    throw error;
  }
}
