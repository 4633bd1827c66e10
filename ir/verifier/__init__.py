"""Check graphs: types, attributes, plans, forms and guards."""
