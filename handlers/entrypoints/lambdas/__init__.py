"""The functions of a deployment on AWS Lambda. Each is plain: an event in, an answer out."""
