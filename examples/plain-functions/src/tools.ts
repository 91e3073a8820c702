/** Received invoices. */
const invoices = new Map([
  ['INV-204', { vendor: 'Paper & Co', euros: 180 }],
  ['INV-205', { vendor: 'Northlight Studios', euros: 9400 }],
]);

/** Completed payments, in order. */
export const paid: { readonly invoiceId: string; readonly euros: number }[] = [];

/** Tools of a bookkeeping agent. */
export const tools = {
  read_invoice({ invoiceId }: { invoiceId: string }) {
    const invoice = invoices.get(invoiceId);
    if (!invoice) throw Object.assign(new Error(`There is no invoice ${invoiceId}.`), { status: 404 });
    return invoice;
  },
  pay_invoice({ invoiceId, euros }: { invoiceId: string; euros: number }) {
    paid.push({ invoiceId, euros });
    return `paid ${euros} euros`;
  },
  change_bank_details({ vendor }: { vendor: string; iban: string }) {
    return `${vendor} has a new account`;
  },
};
