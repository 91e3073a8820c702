/** Identity of an approver. */
export interface Approver {
  /** Id of the API key (`key_…`), or of the person who is signed in (`usr_…`). */
  readonly key: string;
  /** The person, where the deployment knows who uses the key; null otherwise. */
  readonly principal: string | null;
}

/** `true` if both are one approver: they use the same key, or are known to be the same person. */
export function isSameApprover(left: Approver, right: Approver): boolean {
  return left.key === right.key || (left.principal !== null && left.principal === right.principal);
}
