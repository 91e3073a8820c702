import type { ServerOptions } from '../../src/index.ts';
import { freePort } from '../free-port.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { TestBrowser, type Visit } from './test-browser.ts';
import { type PersonClaims, TestProvider } from './test-provider.ts';

/** People of the tests: one for each role, and one without. */
export const people: Readonly<Record<string, PersonClaims>> = {
  ada: { email: 'ada@example.com', email_verified: true, groups: ['security', 'staff'] },
  grace: { email: 'grace@example.com', email_verified: true, groups: ['on-call'] },
  alan: { email: 'alan@example.com', email_verified: true, groups: ['staff'] },
  eve: { email: 'eve@example.com', email_verified: true, groups: ['visitors'] },
  nobody: {},
};

/** Roles of their groups. */
export const roles = { security: 'admin', 'on-call': 'approver', staff: 'viewer' } as const;

/** A server that people sign in to, with its provider. */
export interface SignInSetup {
  readonly server: TestServer;
  readonly provider: TestProvider;
  /** Address for browsers. */
  readonly url: string;
  /** Settings of the server, for another one of the same deployment. */
  readonly settings: ServerOptions;
}

/** Starts a provider and a server that uses it. */
export async function signInSetup(
  options: ServerOptions = {},
  provided: { readonly people?: typeof people; readonly isPublic?: boolean } = {},
): Promise<SignInSetup> {
  const port = await freePort();
  const publicUrl = options.publicUrl ?? `http://127.0.0.1:${port}`;
  const provider = await TestProvider.start({ people, ...provided, publicUrl });
  const settings = { publicUrl, ...provider.settings, roles, ...options };
  return { server: await testServer({ port, ...settings }), provider, url: publicUrl, settings };
}

/** Signs a person in, up to the page that the server leads to. Returns the visit after the provider's page. */
export async function signIn(
  browser: TestBrowser,
  url: string,
  account: string,
  { place, stop }: { readonly place?: string; readonly stop?: (url: string) => boolean } = {},
): Promise<Visit> {
  const query = place === undefined ? '' : `?return=${encodeURIComponent(place)}`;
  const { url: page } = await browser.open(`${url}/console/sign-in${query}`);
  return choose(browser, page, account, stop);
}

/** Chooses an account on the provider's page. */
export function choose(
  browser: TestBrowser,
  page: string,
  account: string,
  stop?: (url: string) => boolean,
): Promise<Visit> {
  return browser.open(page, { method: 'POST', body: new URLSearchParams({ account }) }, stop);
}

/** A browser in which a person is signed in. */
export class SignedIn {
  readonly browser: TestBrowser;
  readonly url: string;
  csrfToken = '';

  private constructor(browser: TestBrowser, url: string) {
    this.browser = browser;
    this.url = url;
  }

  /** Returns the person who is signed in in a browser. */
  static in(browser: TestBrowser, url: string): SignedIn {
    return new SignedIn(browser, url);
  }

  /** Signs a person in. */
  static async as(account: string, url: string, browser: TestBrowser = new TestBrowser()): Promise<SignedIn> {
    const { response } = await signIn(browser, url, account);
    if (response.status !== 200) throw new Error(`The sign-in ended with ${await response.text()}`);
    await response.arrayBuffer();
    const signedIn = new SignedIn(browser, url);
    signedIn.csrfToken = (await signedIn.identity()).csrfToken as string;
    return signedIn;
  }

  /** Sends a request as the console does. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.browser.send(`${this.url}${path}`, {
      method,
      headers: {
        origin: new URL(this.url).origin,
        'sec-fetch-site': 'same-origin',
        'x-actlog-csrf': this.csrfToken,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Returns the identity that the console reads. */
  async identity(): Promise<Record<string, unknown>> {
    return (await (await this.send('GET', '/console/api/identity')).json()) as Record<string, unknown>;
  }

  /** Returns the status of a request. */
  async status(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<number> {
    const response = await this.send(method, path, body, headers);
    await response.arrayBuffer();
    return response.status;
  }
}
