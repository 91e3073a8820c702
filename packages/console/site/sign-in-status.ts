/** Ways to sign in to this server, and whether the browser already is signed in. */
export interface SignInStatus {
  /** Provider to sign in with; null without one. */
  readonly provider: { readonly label: string } | null;
  /** `true` if a cookie or a proxy signs the browser in. */
  readonly signedIn: boolean;
  /** Name of a person whom a proxy signs in, but who has no role; null otherwise. */
  readonly noRole: string | null;
}

/** Status of a server on which people sign in by key only. */
export const onlyKeys: SignInStatus = { provider: null, signedIn: false, noRole: null };

/** Maximum time to wait for the status, in milliseconds. */
const timeoutMs = 10_000;

/** Reads the status. A service that does not have it, or does not respond, is treated as one that takes keys only. */
export async function readSignInStatus(): Promise<SignInStatus> {
  try {
    const response = await fetch('api/sign-in', { signal: AbortSignal.timeout(timeoutMs) });
    const status = response.ok ? ((await response.json()) as Partial<SignInStatus>) : undefined;
    return typeof status?.signedIn === 'boolean' ? { ...onlyKeys, ...status } : onlyKeys;
  } catch {
    return onlyKeys;
  }
}

/** Returns the address that leads to the provider, and back to the current place of the page. */
export function signInAddress(): string {
  return `sign-in?return=${encodeURIComponent(location.hash)}`;
}
