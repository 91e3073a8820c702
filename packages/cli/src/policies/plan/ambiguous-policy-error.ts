/** Error thrown when several active policies of the service have one name, so that the name identifies none of them. */
export class AmbiguousPolicyError extends Error {
  override readonly name = 'AmbiguousPolicyError';

  constructor(name: string, policies: readonly { readonly id: string }[]) {
    const ids = policies.map(({ id }) => id).join(', ');
    super(
      `The service has ${policies.length} active policies with the name "${name}": ${ids}. Archive or rename all but one of them.`,
    );
  }
}
