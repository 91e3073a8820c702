import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A secret that is shown once, with a button to copy it. */
export function Secret({ label, value, onDone }: { label: string; value: string; onDone: () => void }) {
  const [copied, setCopied] = useState<string>();
  const section = useRef<HTMLElement>(null);
  // It is above the form that created it and may be out of view.
  useLayoutEffect(() => section.current?.focus(), [value]);
  return (
    <section ref={section} class="secret" aria-label={label} tabIndex={-1}>
      <p>
        <strong>{label}.</strong> It is shown this once: put it where it belongs before you go on.
      </p>
      <p>
        <code>{value}</code>
      </p>
      <p class="buttons">
        {/* Browsers provide no clipboard over plain HTTP. */}
        {navigator.clipboard !== undefined && (
          <button
            type="button"
            onClick={() =>
              navigator.clipboard.writeText(value).then(
                () => setCopied(value),
                () => {},
              )
            }
          >
            {copied === value ? 'Copied' : 'Copy'}
          </button>
        )}
        <button type="button" class="quiet" onClick={onDone}>
          I have it
        </button>
      </p>
    </section>
  );
}
