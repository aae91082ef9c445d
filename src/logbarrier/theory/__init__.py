"""The paper's theory as functions: call each statement, see it hold, and get from it how to set alpha, eta and T."""
