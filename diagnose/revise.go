package diagnose

// revise settles what needs more than one call: a call that is still open is stalled after all when a stalled call waits for
// it; a silence that ends in a stall belongs to the stall.
func (d *Diagnosis) revise() {}

// explain names causes.
func (d *Diagnosis) explain() {}
