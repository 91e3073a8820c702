import { useLayoutEffect, useRef } from 'preact/hooks';

/** Elements that take letters themselves. */
const takesLetters = 'input:not([type=checkbox]), select, textarea, dialog, [contenteditable]';

/** Key that begins a shortcut of two keys, such as `g a`. */
const leader = 'g';

/** Time in which the second key of such a shortcut follows, in milliseconds; the default of tinykeys. */
const sequenceMs = 1000;

/**
 * Calls the handler of a pressed key while the component is shown. Keys that the user types into a field, or presses
 * together with a modifier, are ignored. So are those of a held-down key, and the second key of a shortcut of every page.
 *
 * @param handlers - handlers by key; undefined for none while shortcuts are off
 */
export function usePageKeys(handlers: Readonly<Record<string, () => void>> | undefined): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  // Before the first frame, so that no key is lost of who types while the page appears.
  useLayoutEffect(() => {
    let ledAtMs = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      const { key, target, timeStamp, repeat, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (repeat || ctrlKey || metaKey || altKey || defaultPrevented) return;
      if (target instanceof Element && target.closest(takesLetters)) return;
      const isSecond = timeStamp - ledAtMs < sequenceMs;
      ledAtMs = key === leader ? timeStamp : Number.NEGATIVE_INFINITY;
      const handle = latest.current && Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (!handle || isSecond) return;
      event.preventDefault();
      handle();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
