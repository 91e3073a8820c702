import { ActlogError, APIConnectionError, APIError } from '@actlog/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Finding, findingsOf } from './checks.tsx';

/** Returns the message of an error for the user, without the request that surrounds it for programs. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof APIError)) return error.message;
  const { message, method, path, status, code, requestId } = error;
  const before = `${method} ${path} failed with ${status} ${code}: `;
  const behind = requestId === undefined ? '' : ` (request ${requestId})`;
  if (!message.startsWith(before) || !message.endsWith(behind)) return message;
  return message.slice(before.length, message.length - behind.length);
}

/** Returns a message for a missing response; undefined if there was one. */
function withoutResponse(error: unknown): string | undefined {
  if (!(error instanceof APIConnectionError)) return undefined;
  if (error.method === 'GET') return 'The service cannot be reached.';
  return 'The service did not respond: the request may or may not have been processed.';
}

/** `true` if a message, which may be truncated, contains only what a finding says. */
function isRedundant(finding: Finding, message: string): boolean {
  const words = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, 100);
  return message.includes(words(String(finding.message)));
}

/** Error message of the service with its request id for the operator. Renders nothing without an error. */
export function Problem({
  error,
  onRetry,
}: {
  error: unknown;
  /** Retries, if the page does not do so automatically. */
  onRetry?: () => void;
}) {
  if (error === undefined) return null;
  const message = messageOf(error);
  const found = findingsOf(error);
  const requestId = error instanceof ActlogError ? error.requestId : undefined;
  const silence = withoutResponse(error);
  return (
    <div class="problem" role="alert">
      {silence === undefined && found.some((finding) => isRedundant(finding, message)) ? null : (
        <p>{silence ?? message}</p>
      )}
      {silence !== undefined && <p class="faint">{message}</p>}
      {found.length > 0 && (
        <ul>
          {found.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && <p class="faint">Request {requestId}</p>}
      {onRetry !== undefined && <Retry error={error} onRetry={onRetry} />}
    </div>
  );
}

/** Button to retry a failed request. */
function Retry({
  error,
  onRetry,
}: {
  /** Error of the last attempt. */
  error: unknown;
  onRetry: () => void;
}) {
  const [tried, setTried] = useState<{ error: unknown }>();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const main = button.current?.closest('main');
    // The button disappears on success; keyboard users continue in the page.
    return () => void (button.current === document.activeElement && main?.focus({ preventScroll: true }));
  }, []);
  return (
    <button
      ref={button}
      type="button"
      class="quiet"
      onClick={() => {
        setTried({ error });
        onRetry();
      }}
    >
      {/* Part of the alert, so that screen readers announce a repeated failure again. */}
      {tried?.error === error ? 'Trying again…' : 'Try again'}
    </button>
  );
}

/** Text for a user whose key may not see a page, with the way to it. */
export function AdministratorsOnly({ what }: { what: string }) {
  return (
    <p class="empty">
      {what} are for administrators. Sign in with a key that has all scopes, on a server with key management.
    </p>
  );
}
