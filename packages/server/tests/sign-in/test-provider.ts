import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
import { atTestEnd } from '../test-end.ts';

/** Claims of a person, besides `sub`. */
export type PersonClaims = Readonly<Record<string, unknown>>;

/** Options of a provider. */
export interface TestProviderOptions {
  /** Address of the actlog server for browsers. */
  readonly publicUrl: string;
  /** People by their account name. */
  readonly people: Readonly<Record<string, PersonClaims>>;
  /** `true` to accept the client without a secret. */
  readonly isPublic?: boolean;
}

const clientId = 'actlog';
const clientSecret = 'a secret: with/odd+characters&';

// Generating a key takes longer than everything else here.
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Runs `create` without the library's warning that it keeps everything in memory, which is what a test wants. */
function quietly<Result>(create: () => Result): Result {
  const { warn } = console;
  console.warn = () => {};
  try {
    return create();
  } finally {
    console.warn = warn;
  }
}

/** A real OpenID provider on a loopback address, whose sign-in page has a button for each person. */
export class TestProvider {
  readonly issuer: string;
  readonly #isPublic: boolean;

  private constructor(issuer: string, isPublic: boolean) {
    this.issuer = issuer;
    this.#isPublic = isPublic;
  }

  /** Starts a provider, which stops at the end of the test. */
  static async start({ publicUrl, people, isPublic = false }: TestProviderOptions): Promise<TestProvider> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    atTestEnd(async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = quietly(
      () =>
        new Provider(issuer, {
          clients: [
            {
              client_id: clientId,
              ...(isPublic ? { token_endpoint_auth_method: 'none' } : { client_secret: clientSecret }),
              redirect_uris: [`${publicUrl}/console/sign-in/callback`],
              post_logout_redirect_uris: [`${publicUrl}/console/`],
            },
          ],
          claims: {
            openid: ['sub'],
            email: ['email', 'email_verified'],
            profile: ['name', 'preferred_username', 'groups', 'realm_access'],
          },
          findAccount: (_context, accountId) => ({
            accountId,
            claims: () => ({ sub: accountId, ...people[accountId] }),
          }),
          interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
          features: {
            devInteractions: { enabled: false },
            rpInitiatedLogout: {
              enabled: true,
              logoutSource: (context, form) => {
                context.body = `<!doctype html><title>Provider</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`;
              },
            },
          },
          ttl: { AccessToken: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
          pkce: { required: () => true },
          cookies: { keys: ['not a secret'] },
          jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] } as never,
        }),
    );
    const page = Object.keys(people)
      .map((name) => `<button name="account" value="${name}">Continue as ${name}</button>`)
      .join('');
    const callback = provider.callback();
    server.on('request', async (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return callback(request, response);
      if (request.method === 'GET') {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><title>Provider</title><form method="post">${page}</form>`);
        return;
      }
      const accountId = new URLSearchParams((await buffer(request)).toString()).get('account') ?? '';
      const grant = new provider.Grant({ accountId, clientId });
      grant.addOIDCScope('openid profile email');
      const result =
        accountId === 'nobody'
          ? { error: 'access_denied', error_description: 'declined' }
          : { login: { accountId }, consent: { grantId: await grant.save() } };
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    });
    return new TestProvider(issuer, isPublic);
  }

  /** Settings of an actlog server that uses the provider. */
  get settings() {
    return {
      oidcIssuer: this.issuer,
      oidcClientId: clientId,
      ...(this.#isPublic ? {} : { oidcClientSecret: clientSecret }),
    };
  }
}
