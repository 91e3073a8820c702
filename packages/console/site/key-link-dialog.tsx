import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Identity } from './identity.ts';

/** Dialog that asks before the API key of a link replaces the one that this tab uses. */
export function KeyLinkDialog({
  identity,
  onAccept,
  onDecline,
}: {
  /** The signed-in user; undefined while unknown. */
  identity: Identity | undefined;
  onAccept: () => void;
  onDecline: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const owner = [identity?.name, identity?.tenant].filter((part) => part !== undefined).join(', ');
  return (
    <dialog ref={dialog} aria-labelledby="key-link-title" onClose={onDecline}>
      <h2 id="key-link-title">Sign in with another key?</h2>
      <p>
        You opened a link that contains an API key.{' '}
        {identity?.role === undefined ? 'This tab already uses another key' : 'You are already signed in'}
        {owner !== '' && (
          <>
            {' '}
            (<span translate={false}>{owner}</span>)
          </>
        )}
        . Use the key in the link only if you trust the person who sent it.
      </p>
      <p class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          {identity?.role === undefined ? 'Keep the current key' : 'Stay signed in'}
        </button>
        <button type="button" class="quiet" onClick={onAccept}>
          Use the key in the link
        </button>
      </p>
    </dialog>
  );
}
