import { consoleSite } from '@actlog/console';
import type { SignInError, SignInFailure } from './sign-in-error.ts';

/** `Content-Security-Policy` of the page: only the console's own styles, and no script. */
export const errorPagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Text of the page of a failure, and its status. */
interface ErrorText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** `true` to offer another account rather than another attempt. */
  readonly offersAccounts?: true;
}

const texts: Readonly<Record<SignInFailure, ErrorText>> = {
  unavailable: {
    status: 502,
    title: 'The sign-in service is not available',
    text: 'The sign-in service does not respond, or does not accept this server. Try again in a minute. If it persists, ask the operator of the server.',
  },
  stale: {
    status: 400,
    title: 'This sign-in is no longer valid',
    text: 'It took too long, was begun in another browser or tab, or was already completed. Sign in again.',
  },
  declined: {
    status: 403,
    title: 'The sign-in was declined',
    text: 'The sign-in service did not let you in. Sign in again, or ask its administrator for access to this application.',
  },
  rejected: {
    status: 400,
    title: 'The sign-in could not be verified',
    text: 'The response of the sign-in service was not valid, or was used before. Sign in again. If it persists, ask the operator of the server.',
  },
  no_role: {
    status: 403,
    title: 'You have no access to this server',
    text: 'Your account has no role here. Ask the operator of the server to give you one, or to add you to a group that has one. Then sign in again.',
    offersAccounts: true,
  },
  limited: {
    status: 429,
    title: 'Too many failed sign-ins',
    text: 'Too many sign-ins from your address have failed. Wait a minute, then sign in again.',
  },
};

/** A page for a person who could not sign in. */
export interface ErrorPage {
  readonly status: number;
  readonly html: string;
}

/**
 * Returns the page for a failed sign-in.
 *
 * @param root - relative address of the console, `./` or `../`
 * @param requestId - identifies the request in the log
 */
export async function errorPage(
  { failure, person }: SignInError,
  root: './' | '../',
  requestId: string,
): Promise<ErrorPage> {
  const { status, title, text, offersAccounts } = texts[failure];
  const [again, label] = offersAccounts
    ? ['sign-in?account=other', 'Sign in with another account']
    : ['sign-in', 'Sign in again'];
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <title>${title} · actlog</title>
    <link rel="icon" href="${root}icon.svg" type="image/svg+xml" />
    ${await stylesheet(root)}
  </head>
  <body>
    <main class="sign-in">
      <h1>${title}</h1>
      ${person === undefined ? '' : `<p>You are signed in as <strong>${escaped(person)}</strong>.</p>`}
      <p>${text}</p>
      <p><a href="${root}${again}">${label}</a></p>
      <p><a href="${root}">Go to the console</a></p>
      <p><small>Reference for the operator: ${escaped(requestId)}</small></p>
    </main>
  </body>
</html>
`;
  return { status, html };
}

/** Returns the link to the console's styles, whose name contains a hash. */
async function stylesheet(root: string): Promise<string> {
  const name = Object.keys(await consoleSite()).find((file) => file.startsWith('style-'));
  return name === undefined ? '' : `<link rel="stylesheet" href="${root}${name}" />`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
