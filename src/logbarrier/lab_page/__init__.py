"""The interactive page: `logbarrier lab` on the command line, `lb.lab()` in Python. Needs the extra `lab` (Bokeh).

state     what is shown, checked, as text in the address bar        laws, rules, environments, presets   what can be chosen
source    the same as Python and as a study file                   jobs, learning, worker               the work behind it
views/    results -> picture, one file per view                    controls, page                       one browser tab
server    bound to this machine alone
"""
