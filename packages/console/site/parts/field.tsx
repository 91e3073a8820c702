import { cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';

/** Form control with a label and an optional hint. */
export function Field({
  label,
  hint,
  isRow = false,
  children,
}: {
  label: string;
  hint?: string;
  /** `true` if it spans a whole row of the grid. */
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
