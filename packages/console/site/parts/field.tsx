import { cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';

/** A control of a form with its name and, where it needs one, a hint. */
export function Field({
  label,
  hint,
  isRow = false,
  children,
}: {
  label: string;
  hint?: string;
  /** Whether it takes a whole row of a grid. */
  isRow?: boolean;
  children: VNode;
}) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class={isRow ? 'field row' : 'field'}>
      <label for={id}>{label}</label>
      {cloneElement(children, { id, ...(hint !== undefined && { 'aria-describedby': hintId }) })}
      {hint !== undefined && <small id={hintId}>{hint}</small>}
    </div>
  );
}
